// Where the process begins: kept small, so that all the rest comes from the cache of compiled code.
import { keepCompiledCode } from './base/compile-cache.ts';

keepCompiledCode(process.env);
const { main } = await import('./main.ts');
await main(process.argv.slice(2));
