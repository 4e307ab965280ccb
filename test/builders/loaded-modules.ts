// For `node --import`: writes the URLs of all modules that the process has loaded to the file that LOADED_MODULES names, when it ends.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const urls: string[] = [];
registerHooks({
  load(url, context, next) {
    urls.push(url);
    return next(url, context);
  },
});
process.on('exit', () => {
  const path = process.env['LOADED_MODULES'];
  if (path !== undefined) writeFileSync(path, urls.join('\n'));
});
