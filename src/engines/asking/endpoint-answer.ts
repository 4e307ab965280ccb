/** What listens at an endpoint, as it says itself. */
export type EndpointAnswer = DockerAnswer | CriAnswer | NoAnswer;
export type EngineAnswer = DockerAnswer | CriAnswer;

/** The API of a Docker engine. */
export interface DockerAnswer {
  readonly speaks: 'docker';
  readonly name: 'docker' | 'podman';
  readonly version: string;
  /** "1.44" */
  readonly apiVersion: string;
}

/** The container runtime interface of Kubernetes, by gRPC. */
export interface CriAnswer {
  readonly speaks: 'cri';
  /** "containerd", "cri-o" */
  readonly name: string;
  readonly version: string;
  readonly apiVersion: 'v1';
}

export interface NoAnswer {
  readonly speaks: 'nothing';
  /** `away`: nothing listens there now, which may change by itself. `wrong`: what is there is no engine that can be driven. */
  readonly is: 'away' | 'wrong';
  /** "there is no such file" */
  readonly found: string;
  /** "start the engine" */
  readonly toDo: string;
}

export const away = (found: string, toDo: string): NoAnswer => ({ speaks: 'nothing', is: 'away', found, toDo });
export const wrong = (found: string, toDo: string): NoAnswer => ({ speaks: 'nothing', is: 'wrong', found, toDo });
