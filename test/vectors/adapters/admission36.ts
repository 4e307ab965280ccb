import { PREEMPTED } from '../../../src/model/preemption.ts';
import { run as admit } from './admission.ts';

export function run(input: Parameters<typeof admit>[0]): unknown {
  const { preempted, ...out } = admit(input);
  const events = preempted.map(() => `Warning Preempting ${PREEMPTED}`);
  return { ...out, preempted, ...(events.length > 0 && { events }) };
}
