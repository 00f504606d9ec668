// The door to nodes of a cluster: what they need is loaded when one is opened, and by no other crawl.

import type { ClusterNode, ClusterNodePlan } from './cluster-node.ts'

export async function openClusterNode(plan: ClusterNodePlan): Promise<ClusterNode> {
  const { ClusterNode: Node } = await import('./cluster-node.ts')
  return Node.open(plan)
}

/** What looks at a cluster from outside, and asks its nodes. */
export async function loadClusterLook() {
  const [{ lookAtCluster, sharesBehind, shareOfUrl }, { askNode, TRACE_SUBJECT }] = await Promise.all([
    import('./look-at-cluster.ts'),
    import('./cluster-questions.ts'),
  ])
  return { lookAtCluster, sharesBehind, shareOfUrl, askNode, TRACE_SUBJECT }
}
