export { Changes, makeChange, readChanges, readCrawl } from './changes.ts'
export { checkNodeName, initCluster, makeWish, nodeNameOf, readDefinition } from './cluster-commands.ts'
export {
  type ClusterEvent,
  clusterHistory,
  type ClusterHistory,
  describeChange,
  describeWish,
} from './cluster-history.ts'
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
export { assertDead, lostNodesIn, runOf } from './lost-commands.ts'
export { type LostFound, LostProgress, type LostSum, noteLostStep } from './lost-nodes.ts'
export type { PlaceShares } from './membership.ts'
export { parseRunName, runName } from './records.ts'
export type { CrawlChange, CrawlDefinition, Member, SpeedChange, View, Wish, WishKind } from './records.ts'
export type { ShareReport, ShareStanding } from './share-desk.ts'
export type { LostNode, SpeedWish } from './wishes.ts'
