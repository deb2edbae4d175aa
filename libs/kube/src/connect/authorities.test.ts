// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it } from "@jest/globals";
import { rootCertificates } from "node:tls";
import { authoritiesOf } from "./authorities.ts";

const { execArgv } = process;
afterEach(() => {
  process.execArgv = execArgv;
});

describe("authoritiesOf", () => {
  it("returns those of the configuration", () => {
    process.execArgv = ["--use-openssl-ca"];
    expect(authoritiesOf("PEM")).toBe("PEM");
  });

  it("leaves the choice to Node without any", () => {
    process.execArgv = [];
    expect(authoritiesOf(undefined)).toBeUndefined();
    expect(authoritiesOf("")).toBeUndefined();
  });

  it("returns Node's public authorities in a process that does not load them by itself", () => {
    process.execArgv = ["--use-openssl-ca"];
    expect(authoritiesOf(undefined)).toEqual(expect.arrayContaining([rootCertificates[0]]));
  });
});
