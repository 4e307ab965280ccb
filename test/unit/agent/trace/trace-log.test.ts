import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeardLine } from '../../../../src/base/heard-logger.ts';
import type { Logger } from '../../../../src/base/logger.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { ReconcileRecord } from '../../../../src/ports/pod-plan.ts';
import { TraceLog } from '../../../../src/agent/trace/trace-log.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

function recordingLog(verbosity: number): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const line =
    (level: string) =>
    (message: string, fields: object = {}) =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log: Logger = {
    enabled: (level) => level <= verbosity,
    v: (level, message, fields) => level <= verbosity && line(`v${level}`)(message, fields),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: () => log,
    stream: () => log,
  };
  return { log, lines };
}

const traceLog = (log: Logger, hear: (line: HeardLine) => void = () => {}): TraceLog =>
  new TraceLog({ clock: new FakeClock(), log, printed: log, hear });

const aRecord = (over: Partial<ReconcileRecord> = {}): ReconcileRecord => ({
  uid: 'u' as PodUid,
  pod: 'default/web',
  atMs: 0,
  wakes: ['pod added', 'engine event'],
  life: 'syncing',
  plan: { actions: [], next: 'on-change', because: ['all is as it should be'] },
  outcomes: [],
  observeMs: 3,
  totalMs: 50,
  phase: 'Running',
  next: { afterMs: 60_000 },
  failed: undefined,
  unobserved: false,
  ...over,
});

test('a reconcile that changes nothing is silent by default', () => {
  const { log, lines } = recordingLog(0);
  const trace = traceLog(log);
  trace.reconciled(aRecord());
  trace.reconciled(aRecord());
  assert.deepEqual(lines, ['info pod phase changed {"pod":"default/web","uid":"u","from":"new","to":"Running"}']);
});

test('steps that were taken and failures are told by default', () => {
  const { log, lines } = recordingLog(0);
  const action = { do: 'startContainer', name: 'app', attempt: 1, init: false } as const;
  traceLog(log).reconciled(
    aRecord({
      outcomes: [
        { action, tookMs: 40 },
        { action, tookMs: 2, error: 'no such image' },
      ],
      failed: 'no such image',
    }),
  );
  assert.match(lines[0] ?? '', /^info container started .*"name":"app","attempt":1.*"because":"all is as it should be"/);
  assert.match(lines.at(-1) ?? '', /^warn pod step failed .*"error":"no such image","next":"in 60 s"/);
});

test('a pod that waits says why', () => {
  const { log, lines } = recordingLog(0);
  const because = ['another pod holds the name: this one waits for its end'];
  traceLog(log).reconciled(aRecord({ phase: 'Pending', plan: { actions: [], next: 'on-change', because } }));
  assert.deepEqual(lines, [`info pod phase changed {"pod":"default/web","uid":"u","from":"new","to":"Pending","because":"${because[0]}"}`]);
});

test('an interrupted run is no failure', () => {
  const { log, lines } = recordingLog(0);
  traceLog(log).reconciled(aRecord({ phase: undefined, failed: 'interrupted' }));
  assert.deepEqual(lines, []);
});

test('at v=4 every reconcile is one line with what woke it, why, what was done and what comes next', () => {
  const { log, lines } = recordingLog(4);
  const action = { do: 'runSandbox', attempt: 0 } as const;
  traceLog(log).reconciled(aRecord({ outcomes: [{ action, tookMs: 40 }] }));
  assert.equal(
    lines[0],
    'v4 reconciled {"pod":"default/web","uid":"u","woken":"pod added, engine event","life":"syncing","phase":"Running","because":"all is as it should be",' +
      '"did":"runSandbox attempt 0: ok (40 ms)","observeMs":3,"totalMs":50,"next":"in 60 s"}',
  );
});

test('what the start of a pod is told in grows with its containers, and not with their square', () => {
  const told = (containers: number): number => {
    const { log, lines } = recordingLog(0);
    const because = Array.from({ length: containers }, (_, n) => `container c${n} has not run yet`);
    for (let n = 0; n < containers; n++) {
      const action = { do: 'startContainer', name: `c${n}`, attempt: 0, init: false } as const;
      traceLog(log).reconciled(aRecord({ plan: { actions: [action], next: 'on-change', because }, outcomes: [{ action, tookMs: 1 }] }));
    }
    return lines.join('').length;
  };
  const [few, many] = [told(100), told(1_000)];
  assert.ok(many < few * 12, `${few} characters for 100, ${many} for 1,000`);
});

test('what a step is doing is told at v=4', () => {
  const { log, lines } = recordingLog(4);
  traceLog(log).noted({ uid: 'u' as PodUid, message: 'pulling web', fields: { bytes: 1 } });
  assert.deepEqual(lines, ['v4 step under way {"uid":"u","news":"pulling web","bytes":1}']);
});

test('every reconcile is heard with all that it says, whatever is printed', () => {
  const { log } = recordingLog(0);
  const heard: HeardLine[] = [];
  const action = { do: 'startContainer', name: 'app', attempt: 1, init: false } as const;
  const plan = { actions: [action], next: 'on-change', because: ['app has ended'], held: [{ name: 'side', notBeforeMs: 20_000 }] } as const;
  traceLog(log, (line) => heard.push(line)).reconciled(
    aRecord({ plan, outcomes: [{ action, tookMs: 40, error: 'no such image' }], failed: 'no such image', next: 'back-off' }),
  );
  assert.deepEqual(heard, [
    {
      stream: 'reconcile',
      level: 4,
      message: 'reconciled',
      fields: {
        pod: 'default/web',
        uid: 'u',
        woken: ['pod added', 'engine event'],
        life: 'syncing',
        phase: 'Running',
        because: ['app has ended'],
        actions: [{ ...action, tookMs: 40, error: 'no such image' }],
        held: [{ name: 'side', untilMs: new FakeClock().now() + 20_000 }],
        failed: 'no such image',
        observeMs: 3,
        totalMs: 50,
        next: 'back-off',
      },
    },
  ]);
});

test('a look that only came round, and repeats the one before, is heard no more than that one', () => {
  const { log } = recordingLog(0);
  const heard: HeardLine[] = [];
  const trace = traceLog(log, (line) => heard.push(line));
  const rest = aRecord({ wakes: ['due'], outcomes: [{ action: { do: 'prepare' }, tookMs: 1 }] });
  const heardOf = (...records: readonly ReconcileRecord[]): number => {
    for (const record of records) trace.reconciled(record);
    return heard.splice(0).length;
  };
  assert.equal(heardOf(aRecord()), 1);
  assert.equal(heardOf(rest, { ...rest, outcomes: [] }, rest), 0);
  // Something woke it, or it came to something else.
  assert.equal(heardOf(aRecord(), aRecord({ wakes: ['due', 'relist'] })), 2);
  const because = ['container app is under way'];
  const another = { ...rest, plan: { ...rest.plan, because } };
  assert.equal(heardOf(another, another), 1);
  assert.equal(heardOf(rest, { ...rest, phase: 'Pending' }, { ...rest, uid: 'v' as PodUid }), 3);
  const outOfDate = { ...rest, outcomes: [{ action: { do: 'prepare' } as const, tookMs: 1, note: 'not up to date: no answer' }] };
  const started = { ...rest, outcomes: [{ action: { do: 'startContainer', name: 'app', attempt: 0, init: false } as const, tookMs: 1 }] };
  const held = { ...rest, plan: { ...rest.plan, held: [{ name: 'app', notBeforeMs: 5 }] } };
  assert.equal(heardOf(rest), 1);
  for (const each of [outOfDate, started, held, { ...rest, failed: 'no answer' }]) assert.equal(heardOf(rest, each, each, rest, rest), 3);
});
