export type * from './answers.ts'
export { type CatalogueDesk, CPU_SHARE_USUAL, openCatalogue, type OpenCatalogueOptions } from './open-catalogue.ts'
