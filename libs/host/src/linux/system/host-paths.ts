// SPDX-License-Identifier: Apache-2.0
/**
 * hostPaths places the files that Switchyard writes on a host with a read-only /etc, such as Talos and Bottlerocket. Callers name the
 * usual paths. With another state directory, records are there, and udev rules in /run/udev/rules.d, which udev reads, too; a boot
 * removes these rules, and the config daemon writes them at its start.
 */
import { posix } from "node:path";
import { HostError } from "../../calls/host-error.ts";

/** Directory of the records and other files of the state, unless a setting names another one. */
export const defaultStateDirectory = "/etc/sriov-operator";

const udevRules = { usual: "/etc/udev/rules.d", writable: "/run/udev/rules.d" };

/** Returns the path on the host for a usual path. Throws TypeError if `stateDirectory` is not absolute and normalized. */
export function hostPaths(stateDirectory = defaultStateDirectory): (path: string) => string {
  if (stateDirectory === defaultStateDirectory) return (path) => path;
  if (!posix.isAbsolute(stateDirectory) || posix.normalize(`${stateDirectory}/`) !== `${stateDirectory}/`) {
    throw new TypeError(
      `state directory ${JSON.stringify(stateDirectory)} must be an absolute path without "..", and end without a slash`,
    );
  }
  const places = [
    [defaultStateDirectory, stateDirectory],
    [udevRules.usual, udevRules.writable],
  ] as const;
  return (path) => {
    const place = places.find(([usual]) => path === usual || path.startsWith(`${usual}/`));
    return place === undefined ? path : `${place[1]}${path.slice(place[0].length)}`;
  };
}

/** Reports whether the setting decides about the place of a usual path. */
export function isPlaced(path: string): boolean {
  return path.startsWith(`${defaultStateDirectory}/`) || path.startsWith(`${udevRules.usual}/`);
}

/**
 * Returns the error with the setting that avoids it: a read-only file system gives the same answer to each attempt. `path` is the
 * path on the host.
 */
export function namingSetting(error: unknown, path: string): unknown {
  if (!(error instanceof HostError && error.code === "EROFS")) return error;
  const place = error.words ?? (error.operation.target === path ? undefined : path);
  const advice = "set --state-directory (STATE_DIRECTORY) to a directory of the host that can be written";
  return new HostError(error.operation, error.code, {
    words: place === undefined ? advice : `${place}; ${advice}`,
    cause: error,
  });
}
