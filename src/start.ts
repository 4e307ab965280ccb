// Where the process begins: kept small, so that all the rest comes from the cache of compiled code.
import { keepCompiledCode } from './base/compile-cache.ts';
import { takeLaunch } from './base/launch.ts';

keepCompiledCode(process.env);
const { main } = await import('./main.ts');
// The launcher runs this file under its own name, and says under which one it was called itself.
const invokedAs = takeLaunch(process.env) ?? process.argv[1] ?? '';
try {
  await main(process.argv.slice(2), invokedAs);
} catch (error) {
  // Without the excerpt of source that Node would print: in the bundle that is a very long line.
  process.stderr.write(`rxlet: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
