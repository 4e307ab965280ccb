import { join } from 'node:path';
import { getuid } from 'node:process';

/** An engine, and where it listens unless it is set up otherwise. */
export interface UsualEndpoint {
  /** As people name it. */
  readonly engine: string;
  readonly endpoint: string;
}

const ofTheMachine: readonly UsualEndpoint[] = [
  { engine: 'Docker', endpoint: 'unix:///var/run/docker.sock' },
  { engine: 'containerd', endpoint: 'unix:///run/containerd/containerd.sock' },
  { engine: 'CRI-O', endpoint: 'unix:///var/run/crio/crio.sock' },
  { engine: 'Podman', endpoint: 'unix:///run/podman/podman.sock' },
];

/** In the order in which they are asked where none is named. An ordinary user's own come first. */
export function usualEndpoints(uid: number, runtimeDir: string | undefined): readonly UsualEndpoint[] {
  if (uid === 0) return ofTheMachine;
  const own = runtimeDir || `/run/user/${uid}`;
  return [
    { engine: 'Docker', endpoint: `unix://${join(own, 'docker.sock')}` },
    { engine: 'Podman', endpoint: `unix://${join(own, 'podman/podman.sock')}` },
    ...ofTheMachine,
  ];
}

/** Those of this process's user. */
export const machineEndpoints = (): readonly UsualEndpoint[] => usualEndpoints(getuid?.() ?? 0, process.env['XDG_RUNTIME_DIR']);
