/** Why a container did not start: what its status shows as the reason for its waiting, and in which words. */
export interface StartFailure {
  readonly reason: string;
  readonly message: string;
}
