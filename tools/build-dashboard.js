// Builds the dashboard into dist/dashboard, where the server of the control API finds it. Part of 'npm ci' (prepare) and of
// 'npm run build'. Plain JavaScript, like what runs beside it before anything else is there.
//
//   node tools/build-dashboard.js [--if-possible]     --if-possible: no complaint where the packages for building are left out

import { fileURLToPath } from 'node:url'

const configFile = fileURLToPath(new URL('../dashboard/vite.config.ts', import.meta.url))

let vite
try {
  vite = await import('vite')
} catch (error) {
  if (!process.argv.includes('--if-possible')) throw error
}
if (vite !== undefined) await vite.build({ configFile })
