// CRC-32C, sixteen bytes at a step, as src/frontier/crc32c.ts has it in TypeScript: here its tables are looked up without a check of bounds.

import { CHECKSUMS, TEXTS } from './memory'

const POLYNOMIAL: u32 = 0x82f63b78
const STEP_BYTES: usize = 16

let areMade: bool = false

/** Of `length` bytes at TEXTS. */
export function checksum(length: i32): u32 {
  if (!areMade) makeTables()
  let crc: u32 = 0xffff_ffff
  let at = TEXTS
  const end = TEXTS + (length as usize)
  for (; at + STEP_BYTES <= end; at += STEP_BYTES) {
    const a = load<u32>(at) ^ crc
    const b = load<u32>(at, 4)
    const c = load<u32>(at, 8)
    const d = load<u32>(at, 12)
    crc = ofWord(a, 12) ^ ofWord(b, 8) ^ ofWord(c, 4) ^ ofWord(d, 0)
  }
  for (; at < end; at++) crc = (crc >> 8) ^ entry((crc ^ (load<u8>(at) as u32)) & 255, 0)
  return ~crc
}

/** Of four bytes, behind which `following` more come in the step. */
function ofWord(word: u32, following: usize): u32 {
  return (
    entry(word & 255, following + 3) ^
    entry((word >> 8) & 255, following + 2) ^
    entry((word >> 16) & 255, following + 1) ^
    entry(word >> 24, following)
  )
}

function entry(byte: u32, following: usize): u32 {
  return load<u32>(CHECKSUMS + (following << 10) + ((byte as usize) << 2))
}

function makeTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte
    for (let following: usize = 0; following < STEP_BYTES; following++) {
      for (let bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) === 1 ? POLYNOMIAL : 0)
      store<u32>(CHECKSUMS + (following << 10) + ((byte as usize) << 2), crc)
    }
  }
  areMade = true
}
