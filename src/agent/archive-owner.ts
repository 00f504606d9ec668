// Files of an archive that several agents write: whose is which? Names say it (portolan-<crawl>-<time>-<agent>-<serial>.warc,
// in a cluster portolan-<crawl>-<time>-<node>-<agent>-<serial>.warc: what stands before the agent says nothing here).

const NAME = /-(\d+)-(\d+)\.warc(?:\.gz|\.zst)?(?:\.open)?$/

export interface ArchiveName {
  readonly agent: number
  readonly serial: number
}

/** Null where a name says nothing of the kind. */
export function archiveNameIn(name: string): ArchiveName | null {
  const [, agent, serial] = NAME.exec(name) ?? []
  return agent === undefined ? null : { agent: Number(agent), serial: Number(serial) }
}

/** Every file is one agent's: those that name none of this crawl, because it had more of them once, are the first one's. */
export function isArchiveOf(name: string, agent: number, agents: number): boolean {
  const owner = archiveNameIn(name)?.agent ?? 0
  return (owner < agents ? owner : 0) === agent
}
