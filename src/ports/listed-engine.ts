import type { EngineFeatures } from './engine-features.ts';

/** Beside what the Node shows. */
export interface ListedFeatures extends EngineFeatures {
  /** It tells what happens to containers; without, they are listed again and again. */
  readonly events: boolean;
  /** The limits of a container can be changed as it runs. */
  readonly resize: boolean;
}

/** A container engine of this machine, or the place where one would be, for `rxlet engines`. */
export type ListedEngine = { readonly endpoint: string; readonly name: string } & (
  | {
      readonly answers: true;
      readonly version: string;
      /** "Docker 1.44", "CRI v1" */
      readonly api: string;
      /** Absent where it did not say what it can do: `problem` says why. */
      readonly features?: ListedFeatures;
      readonly problem?: string;
      /** The one that an agent without flags, and without an engine of before, would drive. */
      readonly first: boolean;
    }
  | { readonly answers: false; readonly found: string; readonly toDo: string }
);
