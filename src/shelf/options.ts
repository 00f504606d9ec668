import { z } from 'zod'
import { choice, count, duration, size, text, yesNo } from '../base/options.ts'
import { addressComplaint, endpointComplaint } from './shelf-address.ts'

export const shelfOptions = z.strictObject({
  to: text(
    '',
    {
      text: 'Where finished WARC files are copied to while the crawl goes on, and index and pages at its end: file:///path or s3://bucket/prefix.',
      flag: 'archive-to',
      placeholder: 'URL',
    },
    addressComplaint,
  ),
  keep: yesNo(true, {
    text: 'Keep WARC files here too once they are safely there; --archive-keep=false removes them.',
    flag: 'archive-keep',
  }),
  endpoint: text(
    '',
    {
      text: 'Of an S3-compatible store that is not AWS, like https://minio.example:9000; else AWS_ENDPOINT_URL_S3, or AWS.',
      flag: 'archive-endpoint',
      placeholder: 'URL',
    },
    endpointComplaint,
  ),
  region: text('', {
    text: 'Region of the bucket; else AWS_REGION, AWS_DEFAULT_REGION, the AWS profile, or us-east-1.',
    flag: 'archive-region',
  }),
  style: choice(['auto', 'path', 'host'], 'auto', {
    text: 'Whether the bucket stands in the path or in the name of the host; auto: in the path where there is an endpoint.',
  }),
  ca: text('', {
    text: 'File with the certificates (PEM) that may vouch for the store, in place of those the system trusts.',
  }),
  accessKeyVariable: text('AWS_ACCESS_KEY_ID', { text: 'Environment variable that holds the access key.' }),
  secretKeyVariable: text('AWS_SECRET_ACCESS_KEY', { text: 'Environment variable that holds the secret key.' }),
  sessionTokenVariable: text('AWS_SESSION_TOKEN', {
    text: 'Environment variable that holds the session token, if there is one.',
  }),
  profile: text('', {
    text: 'Profile in the AWS credentials file, where the variables hold no keys; else AWS_PROFILE, or default.',
  }),
  parallel: count(2, { text: 'Files on their way at the same time.' }, { min: 1, max: 64 }),
  partSize: size('32MiB', { text: 'A file that is longer goes to a bucket in parts of this size.' }, 5 * 2 ** 20),
  silence: duration(
    '60s',
    { text: 'A connection to the store on which nothing moves for so long is given up.' },
    { minMs: 100 },
  ),
  patience: duration('60s', {
    text: 'How long, at the end of a crawl, a store that takes nothing is tried before the rest is left for the next run.',
    flag: 'archive-patience',
  }),
})

export type ShelfOptions = z.output<typeof shelfOptions>
