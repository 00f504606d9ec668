export { type CrewCare, USUAL_CARE } from './agent-crew.ts'
export type { ClusterNodePlan } from './cluster-node.ts'
export type {
  ControlAnswer,
  ControlQuestion,
  NodeFigures,
  ShareFigures,
  SharePreview,
  TraceMessage,
} from './cluster-questions.ts'
export type { ClusterLook } from './look-at-cluster.ts'
export type { AgentStatus } from './agent-messages.ts'
export type { AgentAnswers, AgentQuestion, HostStanding } from './agent-questions.ts'
export { CrawlNode, type NodeEvent, type NodePlan } from './node.ts'
export { loadClusterLook, openClusterNode } from './open-cluster-node.ts'
export { RestartBudget } from './restart-budget.ts'
