import { EngineResponseError, isConflict } from './engine-errors.ts';

/** In what an engine that serves the API of Docker differs from Docker. The parts read it where they would act otherwise; none asks by its name. */
export interface Dialect {
  readonly name: 'docker' | 'podman';
  /** So old may be what it says of itself: 0 where saying it costs next to nothing. Another engine at the same place goes unnoticed for as long. */
  readonly selfFreshMs: number;
  readonly events: {
    /** What it calls the end of a container that is removed. */
    readonly removed: 'destroy' | 'remove';
    /** It takes the key of a label as a filter: otherwise it tells of all containers. */
    readonly byLabel: boolean;
  };
  /** Why a create failed: its name has another container. */
  readonly isNameTaken: (error: unknown) => boolean;
  /** By force, a container that runs is stopped with its grace period before it is removed: it is to be killed first. */
  readonly stopsBeforeRemoval: boolean;
  /** Starting a container starts the sandbox whose namespaces it wants, a dead one as well. */
  readonly startsDeadSandbox: boolean;
  /** A container that joins a sandbox's network has another host name, unless it is to join that, too. */
  readonly joinsHostnameWhenAsked: boolean;
  /** Of a request to attach, the body is the container's first input. */
  readonly feedsBodyToContainer: boolean;
  /** A status' imageID, from the image's own id and the first name that it can be pulled by. */
  readonly imageId: (id: string, pullable: string | undefined) => string;
  readonly logs: {
    /** Which it is to be asked for; undefined: its own choice is found out. */
    readonly driver: string | undefined;
    /** Where the log of a container is, below the engine's data directory. `storage`: the driver's name. */
    readonly file: (storage: string, id: string) => string;
    /** One file is emptied when it is full: it may have the size that several would have. */
    readonly oneFile: boolean;
  };
  /** It runs a container by the handler that it is asked for: otherwise all by its default, without a word. */
  readonly takesHandlers: boolean;
}

const docker: Dialect = {
  name: 'docker',
  selfFreshMs: 0,
  events: { removed: 'destroy', byLabel: true },
  isNameTaken: isConflict,
  stopsBeforeRemoval: false,
  startsDeadSandbox: false,
  joinsHostnameWhenAsked: false,
  feedsBodyToContainer: false,
  imageId: (id, pullable) => (pullable === undefined ? `docker://${id}` : `docker-pullable://${pullable}`),
  logs: { driver: undefined, file: (_, id) => `containers/${id}/${id}-json.log`, oneFile: false },
  takesHandlers: true,
};

/** Podman 5 and later, by its compatible API. */
const podman: Dialect = {
  name: 'podman',
  // For each of its programs it asks the package manager which package that is of: a second of CPU time.
  selfFreshMs: 600_000,
  events: { removed: 'remove', byLabel: false },
  // define.ErrCtrExists of libpod comes as an internal error.
  isNameTaken: (error) =>
    isConflict(error) ||
    (error instanceof EngineResponseError && error.statusCode === 500 && error.daemonMessage.includes('name is already in use')),
  stopsBeforeRemoval: true,
  startsDeadSandbox: true,
  joinsHostnameWhenAsked: true,
  feedsBodyToContainer: true,
  imageId: (id, pullable) => pullable ?? id,
  // Its own choice is the journal where there is one, which cannot be followed as a file.
  logs: { driver: 'k8s-file', file: (storage, id) => `${storage}-containers/${id}/userdata/ctr.log`, oneFile: true },
  takesHandlers: false,
};

export const dialects = { docker, podman } as const;
