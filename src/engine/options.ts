// How a crawl finds its engine and who it says it is there. Secrets are in files or in the environment; no option holds one,
// so none can end up in a process list. (A URL may, where it comes from a file: it is taken, warned about, and never shown.)

import { z } from 'zod'
import { choice, shaped, text } from '../base/options.ts'
import { serverComplaint } from './nats-server-url.ts'

const server = z.string().superRefine((value, context) => {
  const message = serverComplaint(value)
  if (message !== null) context.addIssue({ code: 'custom', message })
})

const path = (flag: string, what: string): ReturnType<typeof text> =>
  text('', { text: what, flag, placeholder: 'FILE' })

export const engineOptions = z.strictObject({
  nats: shaped(
    z.array(server).default([]),
    {
      text: 'NATS servers with JetStream that the nodes of a crawl share: nats://host:4222, or tls://host:4222; one is enough to find the others.',
      flag: 'nats',
      placeholder: 'URL',
    },
    'none',
  ),
  natsReplicas: choice(['auto', '1', '3', '5'], 'auto', {
    text: 'On how many NATS servers each thing is kept; auto is 3 where there are three servers, otherwise 1. Decided when a crawl begins.',
    flag: 'nats-replicas',
  }),
  natsUser: text('', { text: 'The user of NATS; its password is in a file or in the environment.', flag: 'nats-user' }),
  natsPasswordEnv: text('NATS_PASSWORD', { text: 'The variable of the environment that holds the password.' }),
  natsPasswordFile: path('nats-password-file', 'A file that holds the password of the user.'),
  natsTokenEnv: text('NATS_TOKEN', {
    text: 'The variable of the environment that may hold a token instead of a user.',
  }),
  natsTokenFile: path('nats-token-file', 'A file that holds a token instead of a user.'),
  natsCreds: path('nats-creds', 'A credentials file of NATS (JWT and seed).'),
  natsNkey: path('nats-nkey', 'A file that holds the seed of an nkey.'),
  natsCa: path('nats-ca', 'Certificates, in PEM, that the servers may be certified by; otherwise those of Node.js.'),
  natsCert: path('nats-cert', 'The certificate, in PEM, that this node shows.'),
  natsKey: path('nats-key', 'The key, in PEM, of that certificate.'),
})
export type EngineOptions = z.infer<typeof engineOptions>
