export const KERNEL_BASE64 = ''
