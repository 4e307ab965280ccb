import { errorText } from '../base/error-text.ts';
import { ApiError, isNotFound } from '../model/api-error.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { ResourceClaim } from './resource-claim.ts';

/** What is read and written is the same in all of them. The newest first. */
const versions = ['v1', 'v1beta2', 'v1beta1'] as const;

interface ApiGroup {
  readonly versions?: readonly { readonly version: string }[];
}

/** By driver. */
export type SliceSelection = { readonly of: string } | { readonly notOf: ReadonlySet<string> };

/** The API of resource.k8s.io: which version of it the server has is found out when it is first needed. */
export class ResourceApi {
  readonly #api: Pick<KubeApi, 'request'>;
  #version: string | undefined;

  constructor(api: Pick<KubeApi, 'request'>) {
    this.#api = api;
  }

  /** Rejects in the kubelet's words. */
  async claim(namespace: string, name: string, signal: AbortSignal): Promise<ResourceClaim> {
    try {
      const path = `namespaces/${encodeURIComponent(namespace)}/resourceclaims/${encodeURIComponent(name)}`;
      return await this.#api.request<ResourceClaim>({ method: 'GET', path: await this.#at(path, signal) }, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#lookAgain(error);
      throw new Error(`fetch ResourceClaim ${name}: ${errorText(error)}`, { cause: error });
    }
  }

  /** Those that such drivers' plugins have published for the node. Succeeds where there can be none. */
  async deleteSlices(nodeName: string, whose: SliceSelection, signal: AbortSignal): Promise<void> {
    const ofDrivers = 'of' in whose ? [`spec.driver=${whose.of}`] : [...whose.notOf].map((driver) => `spec.driver!=${driver}`);
    const query = { fieldSelector: [...ofDrivers, `spec.nodeName=${nodeName}`].join() };
    const before = this.#version;
    try {
      await this.#api.request({ method: 'DELETE', path: await this.#at('resourceslices', signal), query }, signal);
    } catch (error) {
      this.#lookAgain(error);
      if (!isNotFound(error)) throw error;
      // It had one: another may have taken its place.
      if (before !== undefined && this.#version === undefined) await this.deleteSlices(nodeName, whose, signal);
    }
  }

  async #at(path: string, signal: AbortSignal): Promise<string> {
    this.#version ??= await this.#find(signal);
    return `/apis/resource.k8s.io/${this.#version}/${path}`;
  }

  async #find(signal: AbortSignal): Promise<string> {
    const group = await this.#api.request<ApiGroup>({ method: 'GET', path: '/apis/resource.k8s.io' }, signal);
    const served = (group.versions ?? []).map(({ version }) => version);
    const version = versions.find((each) => served.includes(each));
    if (version === undefined)
      throw new ApiError(
        404,
        '',
        `the API server has none of resource.k8s.io's versions ${versions.join(', ')}, found ${served.join(', ')}`,
      );
    return version;
  }

  /** A server that was upgraded may have another. */
  #lookAgain(error: unknown): void {
    if (error instanceof ApiError && error.status === 404 && error.reason !== 'NotFound') this.#version = undefined;
  }
}
