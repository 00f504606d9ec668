export async function main(args: string[]): Promise<void> { console.log('hi', process.version, args) }
