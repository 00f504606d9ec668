// The eight references of a block, for its writer and its reader: where each text stands, and how long it is.

import { FIRST_VIA, HTTP_ORIGIN, HTTPS_ORIGIN, LAST_URL, REFERENCE_COUNT, VIA } from './format'
import { HTTP_TEXT, HTTPS_TEXT, REFERENCES } from './memory'

/** Those of a block before its first entry. */
export function startBlock(host: usize, hostBytes: i32): void {
  memory.fill(REFERENCES, 0, 8 * REFERENCE_COUNT)
  writeOrigin(HTTPS_ORIGIN, HTTPS_TEXT, 8, host, hostBytes)
  writeOrigin(HTTP_ORIGIN, HTTP_TEXT, 7, host, hostBytes)
  // "https://", and the same without its s.
  store<u64>(HTTPS_TEXT, 0x2f2f_3a73_7074_7468)
  store<u32>(HTTP_TEXT, 0x7074_7468)
  store<u32>(HTTP_TEXT, 0x2f2f_3a70, 3)
}

function writeOrigin(reference: i32, origin: usize, schemeBytes: i32, host: usize, hostBytes: i32): void {
  const end = origin + ((schemeBytes + hostBytes) as usize)
  memory.copy(origin + (schemeBytes as usize), host, hostBytes)
  store<u8>(end, 0x2f)
  setReference(reference, origin, (end + 1 - origin) as u32)
}

/** Those that move begin anew. */
export function startGroup(): void {
  memory.fill(REFERENCES + (VIA << 3), 0, (REFERENCE_COUNT - VIA) << 3)
  copyReference(FIRST_VIA, VIA)
}

export function atOf(reference: i32): usize {
  return load<u32>(REFERENCES + (reference << 3)) as usize
}

export function lengthOf(reference: i32): u32 {
  return load<u32>(REFERENCES + (reference << 3), 4)
}

export function setReference(reference: i32, at: usize, length: u32): void {
  store<u32>(REFERENCES + (reference << 3), at as u32)
  store<u32>(REFERENCES + (reference << 3), length, 4)
}

export function copyReference(from: i32, to: i32): void {
  store<u64>(REFERENCES + (to << 3), load<u64>(REFERENCES + (from << 3)))
}

/** The URL before is one further back from here on. */
export function pushUrl(at: usize, length: u32): void {
  for (let reference = REFERENCE_COUNT - 1; reference > LAST_URL; reference--) copyReference(reference - 1, reference)
  setReference(LAST_URL, at, length)
}
