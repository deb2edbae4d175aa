// SPDX-License-Identifier: Apache-2.0
/**
 * How large a CNI configuration may be. It is stored in a NetworkAttachmentDefinition as a text within JSON, where each
 * quote takes two bytes, and etcd refuses requests of more than 1.5 MiB.
 * Usage: `if (Buffer.byteLength(config) > maxConfigBytes) report(configTooLarge(Buffer.byteLength(config)))`.
 */

/** In UTF-8, without blanks. */
export const maxConfigBytes = 512 * 1024;

/** What is wrong and what would be right; does not name the field. */
export function configTooLarge(bytes: number): string {
  return `makes a CNI configuration of ${Math.ceil(bytes / 1024)} KiB; the limit is ${maxConfigBytes / 1024} KiB`;
}
