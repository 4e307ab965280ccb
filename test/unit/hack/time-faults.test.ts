import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeFaults } from '../../../hack/time-faults.ts';

for (const bad of [
  'const at = Date.now();',
  'setTimeout(f, 5);',
  'void setInterval(f, 5);',
  'later(setTimeout);',
  'const at = performance.now();',
  'const [s] = process.hrtime();',
  'const within = AbortSignal.timeout(5);',
  "import { setTimeout as sleep } from 'node:timers/promises';",
  "import { timer } from 'rxjs';\nconst late = timer(5);",
  "import { map, timer } from 'rxjs';\nconst late = timer(f(5), 6).pipe(map(clock));",
  "import { delay } from 'rxjs';\nconst late = some.pipe(delay(5));",
  "import { timeout } from 'rxjs';\nconst late = some.pipe(timeout({ first: 5 }));",
  "import { debounceTime } from 'rxjs';\nconst late = some.pipe(debounceTime(5, clock));",
  "import {\n  map,\n  asyncScheduler,\n} from 'rxjs';",
])
  test(`what goes past the clock is found: ${bad.replaceAll('\n', ' ')}`, () => assert.notDeepEqual(timeFaults(bad), []));

for (const good of [
  'socket.setTimeout(0);',
  'const at = clock.now() - clock.monotonicMs();',
  'this.#clock.schedule(f, 5);',
  '/** Not Date.now: see setTimeout(f, 5). */',
  'f(); // setTimeout(f, 5)',
  "import { interval, timer } from 'rxjs';\nconst late = timer(f(5), 6, this.#deps.clock); const ticks = interval(g(1), clock);",
  "import { timeout } from 'rxjs';\nconst late = some.pipe(timeout({ first: 5, scheduler: clock }));",
  'const timed = timer(clock, onOperation);',
  "const url = 'http://timers/x';",
])
  test(`what keeps to the clock is let be: ${good.replaceAll('\n', ' ')}`, () => assert.deepEqual(timeFaults(good), []));
