// FTP against a server that says what each test has it say: what becomes of files, directories, refusals and lies.

import { afterEach, describe, expect, test } from 'vitest'
import { type FtpScript, ScriptedFtp } from '../../../test/scripted-ftp.ts'
import { openTalkStand, type TalkStand } from '../../../test/talk-stand.ts'

const SITE: FtpScript = {
  files: {
    '/a.txt': 'hello',
    '/dir/b c%.html': '<title>x</title>',
    '/caf\xe9': 'latin',
    '/big': Buffer.alloc(300_000, 'x'),
  },
  directories: { '/': 'type=file; a.txt\r\ntype=dir; dir\r\n', '/dir': 'type=file; b c%.html\r\n' },
}

let closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  closing = []
})

async function setUp(
  script: FtpScript = SITE,
  options: object = {},
  more: Parameters<typeof openTalkStand>[1] = {},
): Promise<{ server: ScriptedFtp; stand: TalkStand; at: string }> {
  const server = await ScriptedFtp.open(script)
  closing.push(() => server.close())
  const stand = openTalkStand(options, more)
  closing.push(async () => stand[Symbol.asyncDispose]())
  return { server, stand, at: `ftp://127.0.0.1:${server.port}` }
}

describe('what comes', () => {
  test('a file, with the type its name says, its date, and what was said about it', async () => {
    const { server, stand, at } = await setUp()
    const document = await stand.document(`${at}/a.txt`)
    expect(Buffer.from(document.body.bytes()).toString()).toBe('hello')
    expect(document).toMatchObject({ status: 226, statusText: 'Done', mediaType: 'text/plain', httpVersion: null })
    expect(document.header('last-modified')).toBe('Thu, 02 Jan 2020 03:04:05 GMT')
    expect(document.ip).toBe('127.0.0.1')
    expect(document.requestHead).toContain('PASS [withheld]\r\n')
    expect(document.requestHead).toMatch(/RETR \/a\.txt\r\n150 Here it comes\r\n226 Done\r\n$/)
    expect(server.commands).toEqual([
      'USER anonymous',
      'PASS anonymous@',
      'TYPE I',
      'FEAT',
      'PWD',
      'SIZE /a.txt',
      'MDTM /a.txt',
      'EPSV',
      'RETR /a.txt',
    ])
  })

  test('a name of any bytes is asked for by its bytes', async () => {
    const { stand, at } = await setUp()
    expect(await stand.text(`${at}/dir/b%20c%25.html`)).toBe('<title>x</title>')
    expect(await stand.text(`${at}/caf%E9`)).toBe('latin')
    expect((await stand.text(`${at}/a.txt;type=i`)).length).toBe(5)
  })

  test('a directory is its listing, and one without its slash is a redirect', async () => {
    const { stand, at } = await setUp()
    const listing = await stand.document(`${at}/dir/`)
    expect(listing).toMatchObject({ status: 226, mediaType: 'text/x-ftp-listing' })
    expect(Buffer.from(listing.body.bytes()).toString()).toBe('type=file; b c%.html\r\n')
    const moved = await stand.document(`${at}/dir`)
    expect(moved).toMatchObject({ status: 301 })
    expect(moved.header('location')).toBe(`${at}/dir/`)
  })

  test('a directory that is called otherwise is a redirect to its own name', async () => {
    const { stand, at } = await setUp({ ...SITE, answers: { CWD: '250 There', PWD: '257 "/real ""one"""' } })
    expect((await stand.document(`${at}/link/`)).header('location')).toBe(`${at}/`)
    const { stand: other, at: there } = await setUp({
      ...SITE,
      answers: { CWD: '250 There', PWD: answersInTurn('257 "/"', '257 "/real ""one"""') },
    })
    expect((await other.document(`${there}/link/`)).header('location')).toBe(`${there}/real%20%22one%22/`)
  })

  test('a server without features is asked for what all know', async () => {
    const { server, stand, at } = await setUp({
      ...SITE,
      features: [],
      answers: { EPSV: '500 What?', FEAT: '500 What?', MLSD: '500 What?' },
    })
    expect(await stand.text(`${at}/a.txt`)).toBe('hello')
    expect(await stand.text(`${at}/dir/`)).toContain('b c%.html')
    expect((await stand.document(`${at}/dir`)).status).toBe(301)
    expect(server.commands.filter((command) => command === 'EPSV')).toHaveLength(1)
    expect(server.commands).toContain('LIST')
    expect(server.commands).not.toContain('SIZE /a.txt')
  })

  test('an empty directory may be refused: it is a directory all the same', async () => {
    for (const code of [450, 550]) {
      const { stand, at } = await setUp({ ...SITE, answers: { MLSD: `${code} No files found` } })
      expect(await stand.document(`${at}/dir/`)).toMatchObject({ status: 226, mediaType: 'text/x-ftp-listing' })
    }
  })

  test('paths begin where the login begins', async () => {
    const { server, stand, at } = await setUp({
      files: { '/home/ann/a': 'mine', '/etc/motd': 'all' },
      directories: { '/home/ann': '' },
      answers: { PWD: '257 "/home/ann"' },
    })
    expect(await stand.text(`${at}/a`)).toBe('mine')
    expect(await stand.text(`${at}/%2Fetc/motd`)).toBe('all')
    await stand.document(`${at}/`)
    expect(server.commands).toContain('CWD /home/ann')
  })

  test('data that comes before the word that it comes is not lost', async () => {
    const content = Buffer.alloc(500_000, 'y')
    const { stand, at } = await setUp({
      files: { '/f': content },
      answers: {},
      send: (data, bytes, control) => data.end(bytes, () => control.write('226 Done\r\n')),
    })
    expect((await stand.document(`${at}/f`)).body.length).toBe(500_000)
  })
})

describe('one login', () => {
  test('serves file after file, refusals between them, and is closed when idle', async () => {
    const { server, stand, at } = await setUp()
    for (const path of ['/a.txt', '/none', '/dir/', '/a.txt']) await stand.ask(`${at}${path}`)
    expect(server.connectionCount).toBe(1)
    stand.clock.advance(16_000)
    await server.until(() => server.openConnections === 0)
    expect(await stand.text(`${at}/a.txt`)).toBe('hello')
    expect(server.connectionCount).toBe(2)
  })

  test('that the server has ended is made anew', async () => {
    const { server, stand, at } = await setUp({
      ...SITE,
      send: (data, bytes, control) =>
        data.end(bytes, () => control.write('226 Done\r\n', () => setImmediate(() => control.end('421 Timeout\r\n')))),
    })
    for (let i = 1; i <= 2; i++) {
      expect(await stand.text(`${at}/a.txt`)).toBe('hello')
      await server.until(() => server.openConnections === 0)
      expect(server.connectionCount).toBe(i)
    }
  })

  test('is anonymous by default, with the contact as password, and other servers’ passwords are not told', async () => {
    const { server, stand, at } = await setUp(SITE, {
      logins: [
        { host: 'ftp://127.0.0.1:1', user: 'ann', password: 'hush' },
        { host: '127.0.0.1', user: 'ann', password: 'hush' },
      ],
      contact: 'ops@a.test',
    })
    await stand.ask(`${at}/a.txt`)
    expect(server.commands.slice(0, 2)).toEqual(['USER anonymous', 'PASS ops@a.test'])
  })

  test('is with the name and password that are configured for the server', async () => {
    const server = await ScriptedFtp.open(SITE)
    const at = `ftp://127.0.0.1:${server.port}`
    {
      await using stand = openTalkStand(
        { logins: [{ host: at, user: 'ann', passwordEnv: 'WORD' }] },
        { env: { WORD: 'hush' } },
      )
      const document = await stand.document(`${at}/a.txt`)
      expect(server.commands.slice(0, 2)).toEqual(['USER ann', 'PASS hush'])
      expect(document.requestHead).not.toContain('hush')
    }
    await server.close()
  })
})

describe('what does not come', () => {
  test.each([
    ['550 No such file', 'FETCH_NOT_AVAILABLE'],
    ['553 Not that name', 'FETCH_NOT_AVAILABLE'],
    ['450 Busy', 'FETCH_SERVER_BUSY'],
    ['451 Broken', 'FETCH_SERVER_BUSY'],
    ['425 No way', 'FETCH_CONNECTION_LOST'],
    ['421 Too many', 'FETCH_SERVER_FULL'],
    ['garbage', 'FETCH_HEAD_MALFORMED'],
    ['331 Password?', 'FETCH_HEAD_MALFORMED'],
  ])('%s to a file is %s', async (reply, code) => {
    const { stand, at } = await setUp({ ...SITE, features: [], answers: { RETR: reply, CWD: '550 No' } })
    expect(await stand.ask(`${at}/x`)).toMatchObject({ kind: 'failed', code })
  })

  test.each([
    ['421 Too many users', 'FETCH_SERVER_FULL'],
    ['120 Ready in 10 minutes', 'FETCH_SERVER_FULL'],
    ['530 The maximum number of users is connected', 'FETCH_SERVER_FULL'],
    ['530 Members only', 'FETCH_LOGIN_REFUSED'],
    ['430 Invalid user name', 'FETCH_SERVER_FULL'],
    ['HTTP/1.1 400 Bad Request', 'FETCH_HEAD_MALFORMED'],
  ])('%s at the door is %s', async (reply, code) => {
    const { stand, at } = await setUp({ greeting: reply })
    expect(await stand.ask(`${at}/x`)).toMatchObject({ kind: 'failed', code })
  })

  test('a name with a line end is never sent: it would be a command of its own', async () => {
    const { server, stand, at } = await setUp()
    for (const path of ['/a%0D%0ADELE%20b', '/a%0Ab', '/a%00']) {
      expect(await stand.ask(`${at}${path}`)).toMatchObject({ code: 'FETCH_NOT_AVAILABLE' })
    }
    expect(server.connectionCount).toBe(0)
  })

  test('what is too large or of no wanted type is not asked for', async () => {
    const { server, stand, at } = await setUp(SITE, { announcedMax: '100KiB', rejectTypes: ['text/plain'] })
    expect(await stand.ask(`${at}/big`)).toMatchObject({ kind: 'skipped', reason: 'size-filtered' })
    expect(await stand.ask(`${at}/a.txt`)).toMatchObject({ kind: 'skipped', reason: 'type-filtered' })
    expect(server.dataCount).toBe(0)
    expect(server.connectionCount).toBe(1)
  })

  test('a private address is not connected to', async () => {
    const { server, stand, at } = await setUp(SITE, { allowPrivate: false })
    expect(await stand.ask(`${at}/a.txt`)).toMatchObject({ kind: 'skipped', reason: 'private-address' })
    expect(server.connectionCount).toBe(0)
  })
})

describe('a server that misbehaves', () => {
  test('by naming another machine for the data is not believed', async () => {
    const { server, stand, at } = await setUp({ ...SITE, answers: { EPSV: '500 What?' } })
    expect(await stand.text(`${at}/a.txt`)).toBe('hello')
    expect(server.commands).toContain('PASV')
  })

  test.each(['229 Entering (|||0|)', '229 Entering (|||99999|)', '229 what', '227 (1,2,3)'])(
    'by naming no port (%s) failed',
    async (reply) => {
      const { stand, at } = await setUp({ ...SITE, answers: { EPSV: reply } })
      expect(await stand.ask(`${at}/a.txt`)).toMatchObject({ code: 'FETCH_HEAD_MALFORMED' })
    },
  )

  test('by never answering runs out of time', async () => {
    const { server, stand, at } = await setUp({ ...SITE, answers: { RETR: () => undefined } })
    const asked = stand.ask(`${at}/a.txt`)
    await server.until(() => server.commands.includes('RETR /a.txt'))
    stand.clock.advance(31_000)
    expect(await asked).toMatchObject({ code: 'FETCH_HEAD_TIMEOUT' })
    await server.until(() => server.openConnections === 0)
  })

  test('by never ending a reply is cut off', async () => {
    const { stand, at } = await setUp({ greeting: ({ socket }) => void socket.write(`220-${'x'.repeat(200_000)}`) })
    expect(await stand.ask(`${at}/a.txt`)).toMatchObject({ code: 'FETCH_HEAD_TOO_LONG' })
    const lines = await setUp({ greeting: ({ socket }) => void socket.write('220-x\r\n'.repeat(20_000)) })
    expect(await lines.stand.ask(`${lines.at}/a.txt`)).toMatchObject({ code: 'FETCH_HEAD_TOO_LONG' })
  })

  test('by listing for ever is cut at the limit, and what came is kept', async () => {
    const { stand, at } = await setUp(
      {
        ...SITE,
        send: (data) => {
          const more = (): void => {
            while (!data.destroyed && data.write('type=file; x\r\n'.repeat(1_000))) continue
          }
          data.on('drain', more)
          more()
        },
      },
      { bodyMax: '100KiB' },
    )
    const document = await stand.document(`${at}/`)
    expect(document).toMatchObject({ truncated: 'length' })
    expect(document.body.length).toBe(102_400)
  })

  test('by dropping the connection in the middle is a short body, or half of one where that will do', async () => {
    const drop: FtpScript = {
      ...SITE,
      send: (data, bytes, control) =>
        data.write(bytes.subarray(0, 3), () => {
          data.destroy()
          control.destroy()
        }),
    }
    const { stand, at } = await setUp(drop)
    expect(await stand.ask(`${at}/a.txt`)).toMatchObject({ code: 'FETCH_BODY_SHORT' })
  })

  test('by saying that the transfer broke is believed', async () => {
    const broken: FtpScript = {
      ...SITE,
      send: (data, bytes, control) => data.end(bytes.subarray(0, 3), () => control.write('426 Broken\r\n')),
    }
    const { stand, at } = await setUp(broken)
    expect(await stand.ask(`${at}/a.txt`)).toMatchObject({ code: 'FETCH_BODY_SHORT' })
    const half = await stand.document(`${at}/a.txt`, { acceptPartial: true })
    expect(half).toMatchObject({ truncated: 'disconnect' })
    expect(Buffer.from(half.body.bytes()).toString()).toBe('hel')
  })

  test('by stopping in the middle stalls, and its whole time cuts it', async () => {
    // More than all buffers on the way hold: once it is sent, the body is being read.
    const long = Buffer.alloc(16 * 2 ** 20)
    for (const isCut of [false, true]) {
      let isSent = (): void => undefined
      const sent = new Promise<void>((resolve) => (isSent = resolve))
      const { stand, at } = await setUp(
        { files: { '/f': long }, send: (data, bytes) => void data.write(bytes, isSent) },
        isCut ? { stallTimeout: '100h' } : { requestTimeout: '1000h' },
      )
      const asked = stand.ask(`${at}/f`)
      await sent
      await stand.passTime(asked, isCut ? 61_000 : 31_000)
      expect(await asked).toMatchObject(
        isCut ? { kind: 'fetched', document: { truncated: 'time' } } : { code: 'FETCH_BODY_STALLED' },
      )
    }
  })

  test('is left at once when the crawl stops', async () => {
    const { server, stand, at } = await setUp({ ...SITE, answers: { SIZE: () => undefined } })
    const asked = stand.ask(`${at}/a.txt`)
    await server.until(() => server.commands.includes('SIZE /a.txt'))
    stand.controller.abort()
    expect(await asked).toMatchObject({ code: 'FETCH_CONNECTION_LOST', detail: 'stopped' })
    await server.until(() => server.openConnections === 0)
  })
})

function answersInTurn(...texts: readonly string[]): (said: { readonly reply: (text: string) => void }) => void {
  let next = 0
  return ({ reply }) => reply(texts[Math.min(next++, texts.length - 1)] ?? '')
}
