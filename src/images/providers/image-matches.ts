import { locationCovers, parseRegistryLocation } from '../registry-location.ts';

/**
 * Whether a pattern of matchImages covers an image: ports are equal, each part of the host matches by itself, the path is a beginning
 * (URLsMatchStr in pkg/credentialprovider). What cannot be read covers nothing.
 */
export function imageMatches(pattern: string, image: string): boolean {
  const glob = parseRegistryLocation(`https://${pattern}`);
  const target = parseRegistryLocation(`https://${image}`);
  return glob !== undefined && target !== undefined && locationCovers(glob, target);
}
