export type * from './answers.ts'
export { type CatalogueDesk, CatalogueThread, openCatalogue, type OpenCatalogueOptions } from './open-catalogue.ts'
