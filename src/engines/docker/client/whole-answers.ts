import type { ContainerInfo, ContainerInspectInfo, ImageInfo, ImageInspectInfo } from 'dockerode';

/**
 * The engine's answers as their published types promise them, as far as they are read here. Engines leave fields out or null: an image
 * without configuration, a container without labels, and with each version other ones (ContainerConfig, VirtualSize and a container's own
 * IPAddress have gone; GraphDriver goes with containerd's image store). What is absent is empty.
 */

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const flag = (value: unknown): boolean => value === true;
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);

/** An object's entries that are not null. */
function entries<T>(value: Readonly<Record<string, T | null | undefined>> | null | undefined): Record<string, T> {
  return Object.fromEntries(Object.entries(value ?? {}).flatMap(([key, one]) => (one === null || one === undefined ? [] : [[key, one]])));
}

/** The words of Docker for what Podman has others for as well: what is being stopped runs until it has ended. */
const ofPodman: Readonly<Record<string, string>> = { stopped: 'exited', initialized: 'created', stopping: 'running' };
const statusOf = (status: string): string => ofPodman[status] ?? status;

export function wholeContainer(answer: ContainerInspectInfo): ContainerInspectInfo {
  const { State, Config, HostConfig, NetworkSettings, Mounts } = answer;
  return {
    ...answer,
    Id: text(answer.Id),
    Name: text(answer.Name),
    Created: text(answer.Created),
    Image: text(answer.Image),
    LogPath: text(answer.LogPath),
    ResolvConfPath: text(answer.ResolvConfPath),
    Mounts: (Mounts ?? []).filter((mount) => Boolean(mount)),
    State: {
      ...State,
      Status: statusOf(text(State?.Status)),
      Running: flag(State?.Running),
      OOMKilled: flag(State?.OOMKilled),
      Pid: number(State?.Pid),
      ExitCode: number(State?.ExitCode),
      Error: text(State?.Error),
      StartedAt: text(State?.StartedAt),
      FinishedAt: text(State?.FinishedAt),
    },
    Config: { ...Config, Image: text(Config?.Image), Tty: flag(Config?.Tty), Labels: entries(Config?.Labels) },
    HostConfig: HostConfig ?? {},
    NetworkSettings: { ...NetworkSettings, Networks: entries(NetworkSettings?.Networks) },
  };
}

export function wholeImage(answer: ImageInspectInfo): ImageInspectInfo {
  return {
    ...answer,
    Id: text(answer.Id),
    RepoTags: texts(answer.RepoTags),
    RepoDigests: texts(answer.RepoDigests),
    Size: number(answer.Size),
    Config: { ...answer.Config, User: text(answer.Config?.User) },
  };
}

/** Throws when it is no list: that there is nothing is another answer. */
export function wholeContainers(answer: readonly ContainerInfo[]): readonly ContainerInfo[] {
  return listOf(answer).map((one) => ({
    ...one,
    Id: text(one.Id),
    Names: texts(one.Names),
    ImageID: text(one.ImageID),
    State: statusOf(text(one.State)),
    Labels: entries(one.Labels),
  }));
}

/** Throws when it is no list. */
export function wholeImages(answer: readonly ImageInfo[]): readonly ImageInfo[] {
  return listOf(answer).map((one) => ({
    ...one,
    Id: text(one.Id),
    RepoTags: texts(one.RepoTags),
    RepoDigests: texts(one.RepoDigests),
    Size: number(one.Size),
  }));
}

function listOf<T>(answer: readonly T[]): readonly T[] {
  if (!Array.isArray(answer)) throw new Error('the engine did not answer with a list');
  return answer.filter((one) => Boolean(one));
}
