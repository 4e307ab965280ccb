/** What the kubelet calls an engine call in its docker_operations metrics (dockershim/libdocker/instrumented_client.go). `what` is "METHOD /path". */
export function engineOperation(what: string): string {
  const [method = '', target = ''] = what.split(' ');
  const [path = ''] = target.split('?');
  for (const [of, pattern, name] of operations) if (of === method && pattern.test(path)) return name;
  // Few and known, whatever the path holds: each becomes a series.
  return 'other';
}

const operations: readonly (readonly [string, RegExp, string])[] = [
  ['GET', /^\/containers\/json$/, 'list_containers'],
  ['POST', /^\/containers\/create$/, 'create_container'],
  ['GET', /^\/containers\/[^/]+\/json$/, 'inspect_container'],
  ['POST', /^\/containers\/[^/]+\/start$/, 'start_container'],
  ['POST', /^\/containers\/[^/]+\/(stop|kill)$/, 'stop_container'],
  ['POST', /^\/containers\/[^/]+\/wait$/, 'wait_container'],
  ['POST', /^\/containers\/[^/]+\/update$/, 'update_container'],
  ['POST', /^\/containers\/[^/]+\/attach/, 'attach'],
  ['POST', /^\/containers\/[^/]+\/resize$/, 'resize_container'],
  ['GET', /^\/containers\/[^/]+\/logs$/, 'logs'],
  ['GET', /^\/containers\/[^/]+\/stats$/, 'stats'],
  ['POST', /^\/containers\/[^/]+\/exec$/, 'create_exec'],
  ['DELETE', /^\/containers\/[^/]+$/, 'remove_container'],
  ['POST', /^\/exec\/[^/]+\/start$/, 'start_exec'],
  ['GET', /^\/exec\/[^/]+\/json$/, 'inspect_exec'],
  ['POST', /^\/exec\/[^/]+\/resize$/, 'resize_exec'],
  ['GET', /^\/images\/json$/, 'list_images'],
  ['POST', /^\/images\/create$/, 'pull_image'],
  ['GET', /^\/images\/.+\/json$/, 'inspect_image'],
  ['GET', /^\/images\/.+\/history$/, 'image_history'],
  ['DELETE', /^\/images\/.+$/, 'remove_image'],
  ['GET', /^\/version$/, 'version'],
  ['GET', /^\/info$/, 'info'],
  ['GET', /^\/events$/, 'events'],
];
