export { CrawlNode, type NodeEvent, type NodePlan } from './node.ts'
