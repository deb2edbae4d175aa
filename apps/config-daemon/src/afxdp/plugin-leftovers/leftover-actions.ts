// SPDX-License-Identifier: Apache-2.0
/**
 * leftoverActions describes how what the plugins of upstream have left is removed, for logs and for `config-daemon cleanup`.
 * Usage: `leftoverActions.detach("xsk_def_prog", "ens1f0")` is `"detach XDP program xsk_def_prog from ens1f0"`.
 */
export const leftoverActions = {
  detach: (program: string, name: string) => `detach XDP program ${program} from ${name}`,
  unmount: (path: string) => `unmount ${path} and remove it`,
  forget: (device: string) => `remove the record that the plugins of upstream had ${device}`,
  remove: (path: string) => `remove ${path}`,
} as const;
