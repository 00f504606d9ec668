// Where a crawl keeps its things in NATS. Everything carries the crawl's name, so that crawls share servers and a user may be
// allowed one crawl and no other (docs/decisions/0037):
//
//   subject  portolan.<crawl>.record.<name>         stream  portolan=<crawl>=records
//            portolan.<crawl>.log.<name>                    portolan=<crawl>=log=<name>   one each
//            portolan.<crawl>.beat.<name>                   portolan=<crawl>=beats
//            portolan.<crawl>.object.(of|part).…            portolan=<crawl>=objects
//            portolan.<crawl>.news                          none: a record was created
//            portolan.<crawl>.message.<subject>             none
//            portolan.<crawl>.call.<kind>.<name>            none; $SRV.… finds who answers
//            portolan.<crawl>.probe.<id>.…                  portolan=<crawl>=probe=<id>   for a moment, by checkEngine()
//
// Names of crawls and parts of names have no `=`, so no two things can have one stream.

import { checkCrawlName } from './names.ts'

export interface Layout {
  readonly crawl: string
  /** What all streams of the crawl begin with, before a `=`. */
  readonly prefix: string
  readonly records: { readonly stream: string; readonly subject: (name: string) => string; readonly all: string }
  readonly beats: { readonly stream: string; readonly subject: (name: string) => string; readonly all: string }
  readonly objects: {
    readonly stream: string
    readonly of: (name: string) => string
    readonly part: (id: string) => string
    readonly all: string
  }
  readonly log: (name: string) => { readonly stream: string; readonly subject: string }
  readonly news: string
  readonly message: (subject: string) => string
  readonly call: (kind: string, name: string) => string
  /** What NATS calls a service: all of a kind have this name. */
  readonly service: (kind: string) => string
}

export function layoutOf(crawl: string): Layout {
  checkCrawlName(crawl)
  const subject = `portolan.${crawl}`
  const stream = `portolan=${crawl}`
  const kept = (kind: string, plural: string): Layout['records'] => ({
    stream: `${stream}=${plural}`,
    subject: (name) => `${subject}.${kind}.${name}`,
    all: `${subject}.${kind}.>`,
  })
  return {
    crawl,
    prefix: stream,
    records: kept('record', 'records'),
    beats: kept('beat', 'beats'),
    objects: {
      stream: `${stream}=objects`,
      of: (name) => `${subject}.object.of.${name}`,
      part: (id) => `${subject}.object.part.${id}`,
      all: `${subject}.object.>`,
    },
    log: (name) => ({
      stream: `${stream}=log=${name.replaceAll('.', '=')}`,
      subject: `${subject}.log.${name}`,
    }),
    news: `${subject}.news`,
    message: (name) => `${subject}.message.${name}`,
    call: (kind, name) => `${subject}.call.${kind}.${name}`,
    service: (kind) => `portolan-${crawl}-${kind}`,
  }
}
