// How a crawl was meant is read and kept by `config`, for the control API too.

export { describeSaid, loadSettings, mergeSaid, missingSettings, type Said, storeSettings } from '../config/index.ts'
