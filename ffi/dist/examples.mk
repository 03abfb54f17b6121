# Builds the examples against the library of this archive. What each shows is said in docs/guide.
LIB := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))../lib)
FLAGS := $(shell PKG_CONFIG_PATH='$(LIB)/pkgconfig' pkg-config --cflags --libs trunkline) -Wl,-rpath,$(LIB) -pthread
PROGRAMS := $(basename $(wildcard *.c *.cpp))

.PHONY: all clean
all: $(PROGRAMS)
%: %.c
	$(CC) -std=gnu99 -Wall $< -o $@ $(FLAGS)
%: %.cpp
	$(CXX) -std=c++20 -Wall $< -o $@ $(FLAGS)
clean:
	rm -f $(PROGRAMS)
