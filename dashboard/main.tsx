// The dashboard: where it begins. Token and theme first, then routes, then what is seen.

import { render } from 'preact'
import { App } from './app.tsx'
import { followRoutes } from './route.ts'
import './style/tokens.css'
import './style/ground.css'
import './style/frame.css'
import './style/parts.css'
import './style/tables.css'
import './style/views.css'
import { openSession } from './talk/session.ts'
import { openTheme } from './theme.ts'

openTheme()
openSession()
followRoutes()
const element = document.getElementById('app')
if (element !== null) render(<App />, element)
