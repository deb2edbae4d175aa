// SPDX-License-Identifier: Apache-2.0
/** What the plugin for Headlamp uses of Node's global Buffer, for browsers: a build replaces that global by this one. */

const utf8 = new TextEncoder();

export const Buffer = {
  /** The number of bytes of the text in UTF-8. */
  byteLength: (text: string): number => utf8.encode(text).length,

  /** Bytes of a text in UTF-8, which can only become Base64. */
  from(text: string, _encoding: "utf8") {
    return { toString: (_to: "base64"): string => btoa(String.fromCharCode(...utf8.encode(text))) };
  },
};
