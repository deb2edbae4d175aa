// SPDX-License-Identifier: Apache-2.0
/**
 * checkUnitName validates the name of a systemd unit (systemd.unit(5)), because systemd also accepts paths and globs. mountUnitName
 * returns the name of the unit that systemd has for a mount.
 * Usage: `checkUnitName(mountUnitName("/run/afxdp_dp"))` at the start of a verb.
 */
import { HostError } from "../calls/host-error.ts";

const name = /^[\w:.\\-]{1,200}(@[\w:.\\-]{0,50})?\.(service|socket|target|mount|timer|path|slice)$/;

/** Throws HostError EINVAL if the value cannot be the name of a unit. The message contains the value. */
export function checkUnitName(value: string): void {
  if (name.test(value)) return;
  const shown = JSON.stringify(value.slice(0, 64));
  throw new HostError({ action: "look up systemd unit", target: shown }, "EINVAL", {});
}

/** Returns the unit of a mount point (systemd-escape --path): an absolute path of ASCII characters, in its shortest form. */
export function mountUnitName(path: string): string {
  const escape = (character: string) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const parts = path.slice(1).split("/");
  return `${parts.map((part) => part.replaceAll(/[^\w:.]/g, escape)).join("-")}.mount`;
}
