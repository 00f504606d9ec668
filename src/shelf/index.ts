export { folderOf, openShelf, type ShelfParts } from './open-shelf.ts'
export type { ShelfOptions } from './options.ts'
export type { Putting, Shelf } from './shelf.ts'
export { Shipping, type ShippingEvent, type ShippingFigures, type ShippingPlan } from './shipping.ts'
