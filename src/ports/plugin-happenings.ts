import type { GrpcCallEnd } from '../base/grpc/grpc-client.ts';

/** A driver that has registered on the node was called, and has answered, or not. */
export interface DriverCalled extends GrpcCallEnd {
  /** As it calls itself. */
  readonly driver: string;
}

/** What is reported of what others bring to the node: devices and their plugins, drivers, credential providers. */
export interface PluginHappeningKinds {
  /** A device plugin has registered, and is taken. */
  readonly devicePluginRegistered: { readonly resource: string };
  /** A device plugin was asked for devices of a container, and has answered, or not. */
  readonly devicesAllocated: { readonly resource: string; readonly tookMs: number };
  /** All claims of a pod that has some were prepared or unprepared, or could not be. */
  readonly claimsHandled: {
    readonly operation: 'PrepareResources' | 'UnprepareResources';
    readonly tookMs: number;
    readonly failed: boolean;
  };
  /** A driver of ResourceClaims was called. */
  readonly draDriverCalled: DriverCalled;
  /** A CSI driver was called; `isMigrated`: about a volume of a kind that is the driver's by now. */
  readonly csiDriverCalled: DriverCalled & { readonly isMigrated: boolean };
  /** Which credential providers there are is known; `hash` is that of their configuration. */
  readonly credentialProvidersRead: { readonly hash: string };
  /** The program of a credential provider has ended, or did not in time. */
  readonly credentialProviderAsked: { readonly provider: string; readonly tookMs: number; readonly failed: boolean };
  /** Somebody asked the pod resources API. */
  readonly podResourcesAsked: {
    readonly version: 'v1' | 'v1alpha1';
    readonly method: 'list' | 'get' | 'getAllocatable';
    readonly failed: boolean;
  };
}
