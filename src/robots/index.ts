export type { RobotsOptions } from './options.ts'
export { OptOutPolicy, type OptOutAction } from './opt-out-policy.ts'
export { type PageDirectives, pageDirectives, type PageDirectiveSources } from './page-directives.ts'
export { parseRobots, ROBOTS_BYTES_MAX, type RobotsFile, type RobotsLine, type RobotsLineKind } from './parse-robots.ts'
export { productTokenOf } from './product-token.ts'
export {
  judgeRobotsAnswer,
  ROBOTS_HOPS_MAX,
  type RobotsAnswer,
  type RobotsLife,
  robotsLifeMs,
  type RobotsVerdict,
} from './robots-answer.ts'
export { RobotsCache, type RobotsCacheBounds, type RobotsEntry, type SavedRobotsEntry } from './robots-cache.ts'
export { ALLOW_ALL, DISALLOW_ALL, type RobotsDecision, RobotsRules, type SavedRules } from './robots-rules.ts'
export { SiteWishes, type TdmRule, type UsageRule } from './site-wishes.ts'
export { parseTdmFile, TDM_FILE_PATH } from './tdm-file.ts'
