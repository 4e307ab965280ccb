import { basename } from 'node:path';
import type { Cause } from '../../model/explanation.ts';
import type { PodFacts } from '../pod-facts.ts';
import { shortFault } from '../explain-manifest.ts';
import { oneLine } from './crash-cause.ts';

/** What does not keep the pod from running, and is wrong all the same. */
export function sideCauses({ seen, declared, mirror, manifestFaults, ignored, origin }: PodFacts): readonly Cause[] {
  const { conditions = [] } = seen.status ?? {};
  const resize = conditions.find(({ type, status }) => type === 'PodResizePending' && status === 'True');
  const resizing = conditions.find(({ type, status, reason }) => type === 'PodResizeInProgress' && status === 'True' && reason === 'Error');
  const fields = seen.events.findLast(({ reason }) => reason === 'FieldNotHonoured');
  const preStop = seen.events.findLast(({ reason }) => reason === 'FailedPreStopHook');
  const gates = (declared?.spec.readinessGates ?? []).filter(
    ({ conditionType }) =>
      conditions.find(({ type }) => type === conditionType)?.status !== 'True' &&
      declared?.status?.conditions?.find(({ type }) => type === conditionType)?.status !== 'True',
  );
  return [
    ...(resize ? [resizeCause(resize.reason ?? '', resize.message ?? '')] : []),
    ...(resizing
      ? [{ code: 'resize-failed', kind: 'fault', text: `its resize fails: ${oneLine(resizing.message ?? '')}` } satisfies Cause]
      : []),
    ...(gates.length > 0
      ? [
          {
            code: 'readiness-gate',
            kind: 'wait',
            text: `it is not ready before ${gates.map(({ conditionType }) => conditionType).join(', ')} is True (readiness gate)`,
            advice: 'look at the controller that sets this condition',
          } satisfies Cause,
        ]
      : []),
    ...(manifestFaults.length > 0
      ? [
          {
            code: 'manifest-refused',
            kind: 'fault',
            text: `its manifest has been changed and is refused, and it goes on as it was: ${oneLine(shortFault(manifestFaults[0] ?? '', origin.where ?? ''))}`,
            detail: manifestFaults.join('\n'),
            advice: 'correct the manifest there',
          } satisfies Cause,
        ]
      : []),
    ...ignored.map(
      (file) =>
        ({
          code: 'declared-twice',
          kind: 'note',
          text: `${basename(file)} declares a pod of the same name, and is ignored: ${basename(origin.where ?? 'this file')} counts`,
          advice: 'rename one of the two pods, or remove one file',
        }) satisfies Cause,
    ),
    ...(mirror
      ? [
          {
            code: 'mirror-refused',
            kind: 'fault',
            text: `it runs, and the API server does not show it: its mirror pod is refused: ${oneLine(mirror.error)}`,
            detail: mirror.error,
            sinceMs: mirror.sinceMs,
            advice: 'correct what the API server refuses (its message says it); the pod itself runs on',
          } satisfies Cause,
        ]
      : []),
    ...(preStop
      ? [
          {
            code: 'pre-stop-hook-failed',
            kind: 'note',
            text: `its preStop hook failed: ${oneLine(preStop.message)}`,
            sinceMs: preStop.atMs,
          } satisfies Cause,
        ]
      : []),
    ...(fields
      ? [
          {
            code: 'field-not-honoured',
            kind: 'note',
            text: `not all of its fields are honoured: ${oneLine(fields.message)}`,
            detail: fields.message,
          } satisfies Cause,
        ]
      : []),
  ];
}

function resizeCause(reason: string, message: string): Cause {
  return reason === 'Deferred'
    ? {
        code: 'resize-deferred',
        kind: 'wait',
        text: `its resize is deferred until there is room: ${oneLine(message)}`,
        detail: message,
        advice: 'make room on this node, or ask for less',
      }
    : {
        code: 'resize-infeasible',
        kind: 'fault',
        text: `its resize cannot be done on this node (${reason}): ${oneLine(message)}`,
        detail: message,
        advice: 'ask for less',
      };
}
