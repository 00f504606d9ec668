// The one place where a catalogue is opened for the control API: what finds pages among millions (src/catalogue).

export { noCatalogue as openCrawlCatalogue } from './crawl-records.ts'
