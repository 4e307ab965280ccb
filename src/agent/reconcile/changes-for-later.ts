import { changedFields } from '../../model/changed-fields.ts';
import { allContainers } from '../../model/pod-predicates.ts';
import type { Pod } from '../../model/pod.ts';

/** What a container is made with, and keeps until it is made again. Another image makes it again, other resources do by its resize policy. */
const madeWith: ReadonlySet<string> = new Set(
  `args command env envFrom ports securityContext stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices
  volumeMounts workingDir`.split(/\s+/),
);

export interface ChangeForLater {
  readonly container: string;
  /** Of its spec. */
  readonly fields: readonly string[];
}

/** The containers of a changed pod that get their new spec only when they start again. */
export function changesForLater(before: Pod, now: Pod): readonly ChangeForLater[] {
  return allContainers(now.spec).flatMap((container) => {
    const old = allContainers(before.spec).find(({ name }) => name === container.name);
    if (old === undefined || old.image !== container.image) return [];
    const fields = changedFields(old, container).filter((field) => madeWith.has(field));
    return fields.length > 0 ? [{ container: container.name, fields }] : [];
  });
}
