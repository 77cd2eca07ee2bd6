// The precompiled header of the libraries is built from this empty file.
