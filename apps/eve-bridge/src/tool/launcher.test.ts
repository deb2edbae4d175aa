// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { idInLauncher, isLoader, launcherText } from "./launcher.ts";

describe("launcherText", () => {
  it("starts Node with the installed loader", () => {
    expect(launcherText({ id: "1.0.0-abc", loader: "ld-linux-x86-64.so.2" }).split("\n").slice(2)).toEqual([
      "unset NODE_OPTIONS",
      'd="${0%/*}/.eve-bridge/1.0.0-abc"',
      'exec "$d/lib/ld-linux-x86-64.so.2" --library-path "$d/lib" "$d/node" "$d/start.cjs" "$@"',
      "",
    ]);
  });

  it("starts a statically linked Node directly", () => {
    expect(launcherText({ id: "1.0.0-abc" })).toContain('\nexec "$d/node" "$d/start.cjs" "$@"\n');
  });

  it("contains the id of the version", () => {
    expect(idInLauncher(launcherText({ id: "1.0.0-abc" }))).toBe("1.0.0-abc");
    expect(idInLauncher("\x7fELF")).toBeUndefined();
  });
});

describe("isLoader", () => {
  it.each(["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1", "ld64.so.1"])(
    "recognizes %s",
    (name) => {
      expect(isLoader(name)).toBe(true);
    },
  );

  it.each(["libc.so.6", "libdl.so.2", "node", "ld.so.conf"])("rejects %s", (name) => {
    expect(isLoader(name)).toBe(false);
  });
});
