// What rules by host must look like, checked before a crawl starts.

import { z } from 'zod'
import { parseDuration } from '../base/index.ts'
import { canonicalise, hostKeyOf } from '../url/index.ts'
import { DAY_MINUTES, DAYS, type HoursSpec } from './hours.ts'

/** `22:00-06:00`; midnight at the end may be written 24:00. */
export const hoursSchema: z.ZodPipe<z.ZodString, z.ZodTransform<HoursSpec, string>> = z
  .string()
  .transform((text, context) => {
    const found = /^\s*(\d\d?):(\d\d)\s*[-–]\s*(\d\d?):(\d\d)\s*$/.exec(text)
    const [from, to] = found === null ? [NaN, NaN] : [minutes(found[1], found[2]), minutes(found[3], found[4])]
    if (from < DAY_MINUTES && to <= DAY_MINUTES) return { from, to }
    context.addIssue({ code: 'custom', message: `'${text}' are not hours; write them like 22:00-06:00` })
    return z.NEVER
  })

const daysSchema = z.array(z.enum(DAYS)).min(1)

export const zoneSchema = z.string().superRefine((zone, context) => {
  if (!isZone(zone))
    context.addIssue({ code: 'custom', message: `'${zone}' is not a time zone; write it like Europe/Berlin` })
})

function minutes(hour = '', minute = ''): number {
  return Number(minute) > 59 ? Number.NaN : Number(hour) * 60 + Number(minute)
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** A rest longer than this is a host left out. */
const DELAY_MS_MAX = 30 * 86_400_000

const restSchema = z.string().transform((text, context) => {
  const ms = parseDuration(text)
  if (ms !== null && ms <= DELAY_MS_MAX) return ms
  context.addIssue({ code: 'custom', message: `'${text}' is not a duration up to 30d; write it with a unit, like 10s` })
  return z.NEVER
})

/** `*`, or the host as the frontier knows it, after `*.` or alone. */
const patternSchema = z.string().transform((text, context) => {
  if (text === '*') return text
  const start = text.startsWith('*.') ? '*.' : ''
  const name = text.slice(start.length)
  const url = /[/@?#*\s]/.test(name) || /:\d*$/.test(name) ? null : canonicalise(`http://${name}/`)
  if (typeof url === 'string') return `${start}${hostKeyOf(url)}`
  context.addIssue({
    code: 'custom',
    message: `'${text}' is not a host; write it like example.org, *.example.org or *, without scheme and port`,
  })
  return z.NEVER
})

const ruleSchema = z
  .strictObject({
    hosts: z.union([patternSchema.transform((one) => [one]), z.array(patternSchema).min(1)]),
    delay: restSchema.optional(),
    latencyFactor: z.number().min(0).optional(),
    crawlDelayMax: restSchema.optional(),
    hours: hoursSchema.optional(),
    days: daysSchema.optional(),
    zone: zoneSchema.optional(),
  })
  .refine((rule) => rule.hours !== undefined || (rule.days === undefined && rule.zone === undefined), {
    message: 'days and zone say when hours are; there are no hours',
  })

export const rulesSchema = z.array(ruleSchema)

/** A rule as it is said, checked: plain data. */
export type HostRuleSpec = z.output<typeof ruleSchema>
