// Something else around a method of all objects of a class, while a test runs.

import { onTestFinished } from 'vitest'

type Method = (this: unknown, ...args: readonly unknown[]) => unknown

export function wrapMethod(
  prototype: object,
  name: string,
  around: (args: readonly unknown[], run: () => unknown, self: unknown) => unknown,
): void {
  const before = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor & { value: Method }
  const value: Method = function (...args) {
    return around(args, () => Reflect.apply(before.value, this, args), this)
  }
  Object.defineProperty(prototype, name, { ...before, value })
  onTestFinished(() => void Object.defineProperty(prototype, name, before))
}
