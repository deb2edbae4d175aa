// SPDX-License-Identifier: Apache-2.0
/**
 * Size limit of CNI configurations. A configuration is stored as a string in a NetworkAttachmentDefinition, where each
 * quote takes two bytes, and etcd rejects requests of more than 1.5 MiB.
 * Usage: `const isTooLarge = Buffer.byteLength(config) > maxConfigBytes;`
 */

/** Maximum size in bytes of UTF-8, without blanks. */
export const maxConfigBytes = 512 * 1024;

/** Returns the message for a configuration of this size. The message does not name the field. */
export function configTooLarge(bytes: number): string {
  return `results in a CNI configuration of ${Math.ceil(bytes / 1024)} KiB; the limit is ${maxConfigBytes / 1024} KiB`;
}
