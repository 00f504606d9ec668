export { checkNodeName, initCluster, makeWish, nodeNameOf, readDefinition } from './cluster-commands.ts'
export {
  ClusterMember,
  type MemberOptions,
  type MemberOwner,
  type MemberReport,
  NODE_SERVICE,
  type ShareHolder,
  type ShareKeeper,
  type WayOut,
} from './cluster-member.ts'
export { clusterStatus, type ClusterStatus, type NodeStatus, type ShareStatus } from './cluster-status.ts'
export { Lease } from './lease.ts'
export {
  assertDead,
  type LostFound,
  lostNodesIn,
  LostProgress,
  type LostSum,
  noteLostStep,
  runOf,
} from './lost-nodes.ts'
export type { PlaceShares } from './membership.ts'
export type { CrawlDefinition, LostNode, Member, View, Wish, WishKind } from './records.ts'
export type { ShareReport, ShareStanding } from './share-desk.ts'
