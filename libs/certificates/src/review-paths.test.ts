// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { fromSecretData, registeredPath, toSecretData } from "./certificate-secret.ts";
import { afterStep, type StoredCertificates } from "./certificate-state.ts";
import { formatReviewPaths, parseReviewPaths, secretPathOf } from "./review-paths.ts";

const issue = (name: string) => ({ ca: `CA ${name}`, cert: `cert ${name}`, key: `key ${name}` });
const pathOf = (name: string) => secretPathOf(issue(name));

/** Stores the certificates in a Secret and reads them back, as another replica does. */
function stored(certificates: StoredCertificates | undefined): StoredCertificates {
  const read = certificates && fromSecretData(toSecretData(certificates));
  if (read === undefined) throw new TypeError("no certificates");
  return read;
}

describe("the secret paths", () => {
  it("change only to a path that was announced with the next certificate", () => {
    const first = stored(afterStep(undefined, "create", issue("a")));
    const announced = stored(afterStep(first, "renew", issue("b")));
    const second = stored(afterStep(announced, "promote", undefined));
    const next = stored(afterStep(second, "renew", issue("c")));
    expect([first, announced, second, next].map(({ paths }) => paths)).toEqual([
      [pathOf("a")],
      [pathOf("a"), pathOf("b")],
      [pathOf("b"), pathOf("a")],
      [pathOf("b"), pathOf("c")],
    ]);
    expect(registeredPath(toSecretData(next))).toBe(pathOf("b"));
  });

  it("begin with the open path where an older release has written the Secret, whose pods know no other", () => {
    const old = { current: issue("a") };
    const announced = stored(afterStep(old, "renew", issue("b")));
    const second = stored(afterStep(announced, "promote", undefined));
    const next = stored(afterStep(second, "renew", issue("c")));
    expect([announced, second, next].map(({ paths }) => paths)).toEqual([
      ["", pathOf("b")],
      [pathOf("b"), ""],
      [pathOf("b"), pathOf("c")],
    ]);
    expect([registeredPath(toSecretData(old)), registeredPath(toSecretData(announced))]).toEqual(["", ""]);
  });

  it("stay after somebody has deleted the Secret, so that the running pods answer", () => {
    const first = stored(afterStep(undefined, "create", issue("a")));
    expect(afterStep(first, "create", issue("b"))?.paths).toEqual([pathOf("a"), pathOf("b")]);
  });

  it("are not registered from a Secret of somebody else", () => {
    const text = (value: string) => Buffer.from(value).toString("base64");
    const data = { "tls.crt": text("a"), "tls.key": text("b"), "review-paths": text(`${pathOf("a")}\n`) };
    expect(registeredPath(data)).toBe("");
  });

  it("cannot be guessed from the certificate, and are one segment of a URL", () => {
    expect(pathOf("a")).not.toBe(pathOf("b"));
    expect(pathOf("a")).toMatch(/^[0-9a-f]{32}$/);
  });

  it("are read back, and what is no path is left out", () => {
    const paths = ["", pathOf("a")];
    expect(parseReviewPaths(formatReviewPaths(paths))).toEqual(paths);
    expect(parseReviewPaths(`../../x\n${pathOf("a")}\n${pathOf("a")}\nshort\n`)).toEqual([pathOf("a")]);
    expect(parseReviewPaths("short\n")).toEqual([""]);
  });
});
