// The command line as its sources are, where the launcher would find something faster.

import { main } from '../../src/cli/main.ts'

await main(process.argv.slice(2))
