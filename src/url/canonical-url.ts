// The names a URL goes by inside Portolan. Only this room makes them.

/** A URL in canonical form: WHATWG-serialised, ASCII, no fragment. Two equal strings are one URL. */
export type CanonicalUrl = string & { readonly __brand: 'CanonicalUrl' }

/** Lower-case ASCII host name or IP literal, without scheme or port: what politeness and slots go by. */
export type HostKey = string & { readonly __brand: 'HostKey' }

/** `scheme://host[:port]`, what robots.txt is valid for. */
export type Origin = string & { readonly __brand: 'Origin' }
