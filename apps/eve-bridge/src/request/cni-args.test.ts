// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseCniArgs } from "./cni-args.ts";
import { CniError, cniCode } from "./cni-error.ts";

describe("parseCniArgs", () => {
  it("reads what a kubelet and Multus send", () => {
    const text =
      "IgnoreUnknown=1;K8S_POD_NAMESPACE=eve-kube-app;K8S_POD_NAME=virt-launcher-app-1;" +
      "K8S_POD_INFRA_CONTAINER_ID=0af;K8S_POD_UID=7;MAC=02:16:3e:5e:6c:01";
    expect(parseCniArgs(text)).toEqual({
      mac: "02:16:3e:5e:6c:01",
      podName: "virt-launcher-app-1",
      podNamespace: "eve-kube-app",
    });
  });

  it("accepts an empty text", () => {
    expect(parseCniArgs("")).toEqual({ mac: "", podName: "", podNamespace: "" });
  });

  it("lets a later pair override an earlier one", () => {
    expect(parseCniArgs("K8S_POD_NAME=a;K8S_POD_NAME=b").podName).toBe("b");
  });

  it.each([
    { does: "a pair without =", text: "K8S_POD_NAME", says: 'CNI_ARGS: invalid pair "K8S_POD_NAME"' },
    { does: "a pair with two =", text: "K8S_POD_NAME=a=b", says: 'CNI_ARGS: invalid pair "K8S_POD_NAME=a=b"' },
    { does: "an empty pair", text: "K8S_POD_NAME=a;", says: 'CNI_ARGS: invalid pair ""' },
    { does: "unknown keys", text: "A=1;B=2", says: 'CNI_ARGS: unknown args ["A=1" "B=2"]' },
    { does: "keys in lower case", text: "mac=02:00:00:00:00:01", says: "unknown args" },
    { does: "unknown keys if IgnoreUnknown is false", text: "A=1;IgnoreUnknown=False", says: "unknown args" },
    { does: "an invalid IgnoreUnknown", text: "IgnoreUnknown=yes", says: "must be true or false" },
  ])("refuses $does with code 4: $text", ({ text, says }) => {
    const parse = () => parseCniArgs(text);
    expect(parse).toThrow(expect.objectContaining({ code: cniCode.invalidEnvironment }));
    expect(parse).toThrow(says);
  });

  it("reads any pairs of known keys, in any order", () => {
    const value = fc.stringMatching(/^[^;=]*$/);
    fc.assert(
      fc.property(value, value, value, fc.constantFrom("1", "true", "TRUE", "0", "false"), (mac, name, space, flag) => {
        const text = `K8S_POD_NAME=${name};IgnoreUnknown=${flag};MAC=${mac};K8S_POD_NAMESPACE=${space}`;
        expect(parseCniArgs(text)).toEqual({ mac, podName: name, podNamespace: space });
      }),
    );
  });

  it("throws nothing but CniError for any text", () => {
    const noise = fc.oneof(fc.string(), fc.stringMatching(/^[MAC=;IgnoreUk12]*$/));
    fc.assert(
      fc.property(noise, (text) => {
        try {
          parseCniArgs(text);
        } catch (error) {
          expect(error).toBeInstanceOf(CniError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
